// Package lsp answers the requests of the Language Server Protocol about context files: what they cost, what they import, and what
// hosts drop of them. It knows no wire; package rpc decodes the requests and sends the answers.
package lsp
