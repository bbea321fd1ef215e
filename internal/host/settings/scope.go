package settings

// Scope says for whom settings hold.
type Scope string

// The scopes that hosts have; not every host has each.
const (
	User    Scope = "user"    // every project of this person
	Project Scope = "project" // everyone who works on the project
	Local   Scope = "local"   // this person, in this project
)
