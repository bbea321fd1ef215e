package session

import "github.com/ctxls/ctxls/internal/core/token"

// Piece is one part of a conversation's growth, as the model reads it. An adapter takes it from a transcript or a payload. Service
// counts its tokens and drops the text before anything is stored.
type Piece struct {
	Class PieceClass
	Text  string // the text to count; for a call, its arguments as JSON
	// Tool is the name of the tool of a call, in the host's spelling. A result has it if the host repeats it.
	Tool   string
	CallID string // joins a result to its call
	Path   string // the one file that it is about or holds, as the host gave it; "" for none
	Bytes  int    // of thinking: the length of its signature, which is base64

	ToolClass ToolClass // of Tool, from the host's Rules; CountPieces sets it

	Tokens int  // of Text in Encoding
	Extra  int  // tokens that the model itself counted and that Text does not contain
	Rough  bool // Tokens was estimated from the length of Text
}

// PieceClass is the kind of a piece. Kinds differ in their cost.
type PieceClass string

// The classes of piece. The first three are the model's own output.
const (
	AnswerText   PieceClass = "answer"   // what the model said
	ToolCall     PieceClass = "call"     // the arguments of a call
	Thought      PieceClass = "thought"  // what it thought
	ToolResult   PieceClass = "result"   // what a tool gave back
	PromptText   PieceClass = "prompt"   // a prompt of the user; it ends the turn before
	InjectedText PieceClass = "injected" // added by the host, such as reminders and attachments
	MemoryText   PieceClass = "memory"   // a file of standing instructions
	SummaryText  PieceClass = "summary"  // the summary of a compaction
	Image        PieceClass = "image"
)

// Encoding is the encoding in which pieces are counted. Calibration corrects most of the differences between encodings: o200k_base is as
// good within a third of a percent.
const Encoding = token.Cl100k

// maxCountedBytes bounds the text of one reading that is counted exactly, newest first. Counting it takes about 20 ms. A hook usually
// finds far less, except after a gap.
const MaxCountedBytes = 1 << 20

// roughBytesPerToken is the assumed size of a token in text that is not counted.
const roughBytesPerToken = 3.5

// CountPieces sets the tokens and the tool classes of all pieces and drops their texts. tools comes from the host's Rules. budget is the
// number of bytes that may still be counted exactly; the result is the rest of it. With a nil counter, nothing is counted exactly.
func CountPieces(pieces []Piece, tools map[string]ToolClass, counter token.Counter, budget int) int {
	for i := len(pieces) - 1; i >= 0; i-- {
		p := &pieces[i]
		p.ToolClass = tools[p.Tool]
		if n := len(p.Text); counter != nil && n <= budget {
			budget -= n
			p.Tokens = counter.Count(p.Text)
		} else {
			budget = 0 // the rest is older
			p.Tokens, p.Rough = int(float64(n)/roughBytesPerToken), n > 0
		}
		p.Text = ""
	}
	return budget
}

// Content is the amount of each class in a conversation's growth. Tokens are counted in Encoding.
type Content struct {
	AnswerTokens int              `json:"answerTokens,omitempty"`
	CallTokens   int              `json:"callTokens,omitempty"`
	PromptTokens int              `json:"promptTokens,omitempty"` // typed or injected
	ResultTokens [toolClasses]int `json:"resultTokens,omitzero"`
	Texts        int              `json:"texts,omitempty"` // number of pieces of text, of the model and of others
	Calls        int              `json:"calls,omitempty"`
	Results      int              `json:"results,omitempty"`
	Images       int              `json:"images,omitempty"`
	Extra        int              `json:"extra,omitempty"`       // tokens that the model itself counted, see Piece
	Signatures   int              `json:"signatures,omitempty"`  // of thoughts
	SignedBytes  int              `json:"signedBytes,omitempty"` // their length together
}

// ToolClass groups tools by the form of their results. It is stored as a number, so add new classes at the end.
type ToolClass int

// The classes of tools. OtherTool is a tool that the host's Rules do not list.
const (
	OtherTool ToolClass = iota
	ReadTool
	ShellTool
	SearchTool
	EditTool
	AgentTool
	toolClasses = iota
)

// Reads reports whether tools of the class show files on the disk, so that their results can be read again.
func (c ToolClass) Reads() bool { return c == ReadTool || c == SearchTool }

// add returns c with one more piece. open maps calls without a result to their class.
func (c Content) add(p Piece, open map[string]ToolClass) Content {
	c.Extra += p.Extra
	switch p.Class {
	case AnswerText:
		c.AnswerTokens += p.Tokens
		c.Texts++
	case ToolCall:
		c.CallTokens += p.Tokens
		c.Calls++
	case Thought:
		c.SignedBytes += p.Bytes
		c.Signatures++
	case ToolResult:
		class := p.ToolClass
		if p.Tool == "" {
			class = open[p.CallID]
		}
		c.ResultTokens[class] += p.Tokens
		c.Results++
	case PromptText, InjectedText, MemoryText, SummaryText:
		c.PromptTokens += p.Tokens
		c.Texts++
	case Image:
		c.Images++
	}
	return c
}

// textTokens returns the number of counted tokens, before they are weighted.
func (c Content) textTokens() int {
	sum := c.AnswerTokens + c.CallTokens + c.PromptTokens
	for _, n := range c.ResultTokens {
		sum += n
	}
	return sum
}
