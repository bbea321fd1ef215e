// Package contextfiles finds the files that agent hosts load into a context window before the user's first prompt, and renders
// them as the hosts do: memory files such as CLAUDE.md, AGENTS.md and GEMINI.md with what they import, rules, skills, commands
// and agents.
//
// Every host's rules were captured from a real run of the version in Versions; docs/context-files.md lists them. The package
// starts no program and reads the file system through FS alone, so that unsaved buffers and removed files count as they will be.
package contextfiles
