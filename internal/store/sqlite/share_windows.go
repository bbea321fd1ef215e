package sqlite

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// share lets other processes rename and remove what this one has open, as they can on other systems. SQLite opens its files without
// FILE_SHARE_DELETE. A damaged state could then not be moved aside while any process, such as an editor's idle server, has it open:
// renaming it is a sharing violation (https://learn.microsoft.com/windows/win32/fileio/creating-and-opening-files).
//
// SQLite lets programs replace the system calls of its VFS for Windows by name. All its files are opened by CreateFileW.
var share = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	vfs := lib.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString("CreateFileW")
	if vfs == 0 || err != nil {
		return // then moving aside fails while others have the file open
	}
	defer libc.Xfree(tls, name)
	// The library was translated from C. A pointer to a function is the address of a Go func value there.
	replacement := createFile
	set := (*(**lib.Tsqlite3_vfs)(unsafe.Pointer(&vfs))).FxSetSystemCall
	(*(*func(*libc.TLS, uintptr, uintptr, uintptr) int32)(unsafe.Pointer(&struct{ uintptr }{set})))(tls, vfs, name, *(*uintptr)(unsafe.Pointer(&replacement)))
})

// createFile is CreateFileW for SQLite. Where SQLite wants a file for itself alone, it gets that.
func createFile(tls *libc.TLS, name uintptr, access, mode uint32, security uintptr, disposition, flags uint32, template uintptr) uintptr {
	if mode != 0 {
		mode |= windows.FILE_SHARE_DELETE
	}
	return libc.XCreateFileW(tls, name, access, mode, security, disposition, flags, template)
}
