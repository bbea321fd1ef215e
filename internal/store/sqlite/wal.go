package sqlite

import (
	"os"
	"reflect"

	"modernc.org/libc"
	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// foldAt is the size in bytes from which on the last to close a file folds its log into it. SQLite would have everybody do
// so who is alone, with two syncs: a hook that opens, updates and closes took 3.5 ms, and 1.2 ms where it leaves the log
// to a later one (ext4 on a virtual disk). The next to come reads the log that it finds, so that a much longer one costs
// what was saved: of 64 KiB to 1 MiB this was the best. It also bounds the log of processes that never overlap, which
// SQLite's own bound (1000 pages a process) does not: each would find the whole log unfolded and add to it.
const foldAt = 512 << 10

// shortLog reports whether the log of the file at path is better left as it is.
func shortLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() < foldAt
}

// keepLog makes the closing of the driver's connection raw leave the log as it is, neither folded nor deleted. What is in
// it is as safe there as after a crash: whoever opens the file next finds it.
//
// Against folding SQLite has no pragma and the driver no method, so this reads the driver's handle. Where it finds none,
// closing folds the log, which is only slower.
func keepLog(raw any) {
	if control, ok := raw.(modernc.FileControl); ok {
		control.FileControlPersistWAL("main", 1)
	}
	handle := reflect.Indirect(reflect.ValueOf(raw)).FieldByName("db")
	if !handle.IsValid() || handle.Kind() != reflect.Uintptr || handle.Uint() == 0 {
		return
	}
	tls := libc.NewTLS()
	defer tls.Close()
	arguments := libc.NewVaList(int32(1), uintptr(0)) // on, and no answer
	defer libc.Xfree(tls, arguments)
	lib.Xsqlite3_db_config(tls, uintptr(handle.Uint()), lib.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, arguments)
}
