//go:build !linux && !darwin

package sqlite

// network is not asked here: the default place on Windows, %LOCALAPPDATA%, is local by its definition.
func network(string) string { return "" }
