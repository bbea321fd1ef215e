// bcryptprimitives.c makes Wine 8, Debian's, behave as Windows does in what programs in Go need of it. wine.sh builds it into the prefix
// as bcryptprimitives.dll. Go's runtime loads that library when a program starts, and takes random bytes from it; Wine has it from
// release 9 on. While it is loaded, it replaces three functions:
//
// - NtSetInformationFile has known the class FileDispositionInformationEx since 2016, and removes files by POSIX semantics: the name is
//   free at once, though others have the file open. Wine answers "not implemented", and Go gives up.
// - DeleteFileW does the same on Windows.
// - CreateSymbolicLinkW says that it has made a link, and has not. On Windows it fails for users without the privilege.
#include <windows.h>
#include <winternl.h>

// RtlGenRandom, under the name by which advapi32.dll exports it.
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

// ProcessPrng fills the buffer with random bytes.
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) { return SystemFunction036(buffer, (ULONG)length); }

enum { RENAME = 10, DISPOSITION = 13, DISPOSITION_EX = 64 }; // classes of NtSetInformationFile
#define INVALID_INFO_CLASS ((NTSTATUS)0xC0000003)            // upon which Go takes another way

typedef NTSTATUS(NTAPI *set_information)(HANDLE, PIO_STATUS_BLOCK, PVOID, ULONG, ULONG);
static set_information original;

// removed writes a name that no file has, on the disk of the prefix, and returns its length.
static ULONG removed(WCHAR *name) {
  static LONG count;
  const WCHAR directory[] = L"\\??\\C:\\windows\\temp\\removed-";
  ULONG length = sizeof directory / sizeof *directory - 1;
  memcpy(name, directory, sizeof directory);
  ULONGLONG number = (ULONGLONG)GetCurrentProcessId() << 32 ^ (ULONGLONG)GetTickCount() << 16 ^ (ULONG)InterlockedIncrement(&count);
  for (; number; number >>= 4) name[length++] = L"0123456789abcdef"[number & 15];
  return length;
}

// posix_delete marks a file to be removed when it is closed by all, and frees its name now. A file of another disk keeps its name.
static NTSTATUS posix_delete(HANDLE file) {
  IO_STATUS_BLOCK status;
  BOOLEAN yes = TRUE;
  NTSTATUS failed = original(file, &status, &yes, sizeof yes, DISPOSITION);
  BY_HANDLE_FILE_INFORMATION info;
  if (failed || !GetFileInformationByHandle(file, &info) || info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) return failed;
  struct {
    BOOLEAN replace;
    HANDLE root;
    ULONG length; // in bytes
    WCHAR name[64];
  } rename = {.replace = FALSE};
  rename.length = removed(rename.name) * sizeof(WCHAR);
  original(file, &status, &rename, sizeof rename, RENAME);
  return 0;
}

static NTSTATUS NTAPI set_information_file(HANDLE file, PIO_STATUS_BLOCK status, PVOID data, ULONG length, ULONG class) {
  if (class != DISPOSITION_EX) return original(file, status, data, length, class);
  return posix_delete(file) ? INVALID_INFO_CLASS : 0;
}

static BOOL WINAPI delete_file(LPCWSTR name) {
  HANDLE file = CreateFileW(name, DELETE | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                            FILE_FLAG_OPEN_REPARSE_POINT, NULL); // which opens no directory
  if (file == INVALID_HANDLE_VALUE) return FALSE;
  NTSTATUS failed = posix_delete(file);
  CloseHandle(file);
  if (failed) SetLastError(RtlNtStatusToDosError(failed));
  return !failed;
}

static BOOLEAN WINAPI create_symbolic_link(LPCWSTR link, LPCWSTR target, DWORD flags) {
  SetLastError(ERROR_PRIVILEGE_NOT_HELD);
  return FALSE;
}

// How Wine's functions for system calls begin: the first 16 bytes work at any address. any are those of the call's number.
static const BYTE begin[] = {0x4c, 0x8b, 0xd1, 0xb8, 0, 0, 0, 0, 0xf6, 0x04, 0x25, 0x08, 0x03, 0xfe, 0x7f, 0x01};
static BOOL any(SIZE_T i) { return i >= 4 && i < 8; }

// jump writes at a place: go on at address. It changes no register.
static BOOL jump(BYTE *place, const void *address) {
  const BYTE code[] = {0xff, 0x25, 0, 0, 0, 0};
  DWORD before;
  if (!VirtualProtect(place, sizeof code + sizeof address, PAGE_EXECUTE_READWRITE, &before)) return FALSE;
  memcpy(place, code, sizeof code);
  memcpy(place + sizeof code, &address, sizeof address);
  return VirtualProtect(place, sizeof code + sizeof address, before, &before);
}

static BYTE *function(const char *library, const char *name) { return (BYTE *)(void *)GetProcAddress(GetModuleHandleA(library), name); }

BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved) {
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
  BYTE *set = function("ntdll.dll", "NtSetInformationFile");
  for (SIZE_T i = 0; i < sizeof begin; i++)
    if (!any(i) && set[i] != begin[i]) return TRUE; // another Wine
  BYTE *copy = VirtualAlloc(NULL, 64, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
  if (!copy) return FALSE;
  memcpy(copy, set, sizeof begin);
  original = (set_information)(void *)copy;
  return jump(copy + sizeof begin, set + sizeof begin) && jump(set, (void *)set_information_file) &&
         jump(function("kernelbase.dll", "DeleteFileW"), (void *)delete_file) &&
         jump(function("kernelbase.dll", "CreateSymbolicLinkW"), (void *)create_symbolic_link);
}
