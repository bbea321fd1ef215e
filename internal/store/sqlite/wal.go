package sqlite

import (
	"os"
	"reflect"

	"modernc.org/libc"
	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// checkpointAt is the size in bytes from which the last process to close the database checkpoints the write-ahead log. By default
// SQLite checkpoints on every last close, with two syncs. A hook that opens, updates and closes took 3.5 ms with a checkpoint and
// 1.2 ms without (ext4 on a virtual disk). The next process reads the log that it finds, so a long log costs what was saved: of the
// sizes from 64 KiB to 1 MiB this one was the best. The size also bounds the log of processes that never overlap. SQLite's own
// bound (1000 pages for each process) does not, since each process would find the whole log and add to it.
const checkpointAt = 512 << 10

// shortLog reports whether the log of the database at path is too short to be worth a checkpoint.
func shortLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() < checkpointAt
}

// keepLog makes the close of the driver's connection raw leave the log alone: no checkpoint, and no deletion. The data in the log
// is as safe as after a crash, since the next process to open the database reads it.
//
// Deletion has a public switch, FileControlPersistWAL. The checkpoint has only SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, which needs the
// connection's handle, and the driver hands it out nowhere: its connection hook and sql.Conn.Raw offer SQL and file controls, and
// SQLite has no pragma for this option. sqlite3_auto_extension would get the handle, but takes a C function pointer, which Go code
// can only make with unsafe. So keepLog reads the driver's private field. If a later driver renames the field, closing checkpoints
// the log, which is only slower; TestLogIsKept then fails.
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
	arguments := libc.NewVaList(int32(1), uintptr(0)) // on; no result wanted
	defer libc.Xfree(tls, arguments)
	lib.Xsqlite3_db_config(tls, uintptr(handle.Uint()), lib.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, arguments)
}
