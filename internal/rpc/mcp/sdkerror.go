package mcp

import (
	"regexp"
	"strings"
)

// goType matches the SDK's error for params that it cannot decode. It contains names of Go types, which tell a client nothing.
var goType = regexp.MustCompile(`^handling '([^']*)': invalid params: .* into Go (?:struct field \S+?Params[A-Za-z]*\.(\S+) of type (\S+)|value of type \S+)`)

// plainError says which member of the params is wrong and what is expected there, for an error of the SDK about params. It returns any
// other text unchanged.
func plainError(message string) string {
	found := goType.FindStringSubmatch(message)
	if found == nil {
		return message
	}
	method, member, of := found[1], found[2], found[3]
	if member == "" {
		return method + ": params: expected an object"
	}
	return method + ": params." + member + ": expected " + jsonKind(of)
}

// jsonKind returns the name of the JSON type from which a Go type is decoded.
func jsonKind(of string) string {
	switch {
	case of == "bool":
		return "true or false"
	case strings.HasPrefix(of, "int"), strings.HasPrefix(of, "uint"):
		return "an integer"
	case strings.HasPrefix(of, "float"):
		return "a number"
	case strings.HasPrefix(of, "[]"):
		return "an array"
	case strings.HasPrefix(of, "map["), strings.HasPrefix(of, "struct"):
		return "an object"
	}
	return "a string"
}
