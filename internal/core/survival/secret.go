package survival

import (
	"regexp"
	"strings"
	"sync"
)

// SecretPatterns are what a text looks like that may hold a secret, as regular expressions without regard to case. A prompt or a command
// that matches one is left out as a whole. docs/security.md lists them.
var SecretPatterns = []string{
	`\b(password|passwd|passphrase|pwd|secret|token|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|client[-_ ]?secret|credentials?|auth)["']?\s*(=|:|\bis\b)`, // named
	`[a-z0-9_-]*(key|token|secret|password|passwd|pass|pwd)=\S`,                          // an assignment or a parameter
	`--?(password|passwd|pass|token|secret|api-?key|key|auth)[= ]\S`,                     // an option
	`\bauthorization\b|\bbearer\s+\S{8}|\bbasic\s+[a-z0-9+/=]{12}`,                       // a header
	`-----BEGIN[ A-Z]*(PRIVATE KEY|CERTIFICATE|PGP)`,                                     // a key block
	`\b(sk|pk|rk)[-_](live|test|ant|proj|or)?[-_a-z0-9]{10,}`,                            // keys of Anthropic, OpenAI, Stripe
	`\bgh[opusr]_[a-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}`,                  // GitHub, GitLab
	`\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{16,}`,                    // AWS, Google
	`\bxox[abeoprs]-[\w-]{10,}|\bhf_[a-z0-9]{16,}|\bnpm_[a-z0-9]{16,}|\bpypi-[\w-]{16,}`, // Slack, Hugging Face, npm, PyPI
	`\beyJ[\w-]{8,}\.[\w-]{8,}\.`,                                                        // a JSON Web Token
	`[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@`,                                            // a password in an address
	`(^|[\s"'=:])[0-9a-f]{40,}\b`,                                                        // a long hexadecimal number: it may be a key
	`\s-u\s*\S+:\S+`,                                                                     // curl -u user:password
}

var secrets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(SecretPatterns, "|"))
})

// LooksSecret reports whether a text may hold a secret.
func LooksSecret(s string) bool { return secrets().MatchString(s) || dense(s) }

// dense reports whether a text holds a word that looks drawn at random: 32 or more letters and digits of all three kinds.
func dense(s string) bool {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_", r)
	}) {
		if len(word) >= 32 && strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") &&
			digits(word) >= 5 {
			return true
		}
	}
	return false
}

func digits(s string) (n int) {
	for i := 0; i < len(s); i++ {
		if '0' <= s[i] && s[i] <= '9' {
			n++
		}
	}
	return n
}
