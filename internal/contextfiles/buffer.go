package contextfiles

import (
	"io/fs"
	"time"
)

// bufferInfo describes an unsaved buffer as a file.
type bufferInfo struct {
	name string
	size int64
	of   fs.FileInfo // the file on the disk; nil where there is none
}

func (b bufferInfo) Name() string       { return b.name }
func (b bufferInfo) Size() int64        { return b.size }
func (b bufferInfo) Mode() fs.FileMode  { return 0o644 }
func (b bufferInfo) ModTime() time.Time { return time.Time{} }
func (b bufferInfo) IsDir() bool        { return false }
func (b bufferInfo) Sys() any           { return nil }
