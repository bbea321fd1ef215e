//go:build !linux && !darwin

package sqlite

// network returns "": the default directory on Windows, %LOCALAPPDATA%, is always local.
func network(string) string { return "" }
