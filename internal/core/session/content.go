package session

import "github.com/ctxls/ctxls/internal/core/token"

// Piece is one part of what a conversation grew by, as the model reads it. An adapter takes it from a transcript or a
// payload; Service counts its tokens and drops the text, before anything is stored.
type Piece struct {
	Class PieceClass
	Text  string // what is counted; of a call its arguments as JSON
	// Tool names the tool of a call, in the host's spelling, and of a result where the host repeats it there.
	Tool   string
	CallID string // joins a result to its call
	Path   string // the one file that it is about or holds, as the host gave it; "" for none
	Bytes  int    // of a thought: the length of its signature, which is base64

	ToolClass ToolClass // of Tool, by the host's Rules; CountPieces fills it in

	Tokens int  // of Text in Encoding
	Extra  int  // tokens of the model's own count that come with it and are not in Text
	Rough  bool // Tokens was worked out from the length of Text
}

// PieceClass says what a piece is: classes cost differently.
type PieceClass string

// The classes of piece. The first three are the model's own output.
const (
	AnswerText   PieceClass = "answer"   // what the model said
	ToolCall     PieceClass = "call"     // the arguments of a call
	Thought      PieceClass = "thought"  // what it thought
	ToolResult   PieceClass = "result"   // what a tool gave back
	PromptText   PieceClass = "prompt"   // what a person typed: it ends the turn before
	InjectedText PieceClass = "injected" // what the host added by itself, such as reminders and attachments
	MemoryText   PieceClass = "memory"   // a file of standing instructions
	SummaryText  PieceClass = "summary"  // what a compaction put in place of the conversation
	Image        PieceClass = "image"
)

// Encoding is the encoding in which pieces are counted. Which one hardly matters once the count is calibrated: o200k_base
// does as well within a third of a percent.
const Encoding = token.Cl100k

// maxCountedBytes is how much text one reading has counted exactly, the newest first: that takes some 20 ms. What a hook
// finds is far less, except after a gap.
const MaxCountedBytes = 1 << 20

// roughBytesPerToken is what a token is taken for where text is not counted.
const roughBytesPerToken = 3.5

// CountPieces fills in the tokens and the tool classes of all pieces and drops their texts. tools is that of the host's Rules.
// budget is how many bytes may still be counted exactly; it returns what is left. A nil counter counts nothing exactly.
func CountPieces(pieces []Piece, tools map[string]ToolClass, counter token.Counter, budget int) int {
	for i := len(pieces) - 1; i >= 0; i-- {
		p := &pieces[i]
		p.ToolClass = tools[p.Tool]
		if n := len(p.Text); counter != nil && n <= budget {
			budget -= n
			p.Tokens = counter.Count(p.Text)
		} else {
			budget = 0 // all that is older comes after
			p.Tokens, p.Rough = int(float64(n)/roughBytesPerToken), n > 0
		}
		p.Text = ""
	}
	return budget
}

// Content is how much of each class a conversation grew by. Tokens are counted in Encoding.
type Content struct {
	AnswerTokens int              `json:"answerTokens,omitempty"`
	CallTokens   int              `json:"callTokens,omitempty"`
	PromptTokens int              `json:"promptTokens,omitempty"` // typed or injected
	ResultTokens [toolClasses]int `json:"resultTokens,omitzero"`
	Texts        int              `json:"texts,omitempty"` // how many pieces of text, the model's and others'
	Calls        int              `json:"calls,omitempty"`
	Results      int              `json:"results,omitempty"`
	Images       int              `json:"images,omitempty"`
	Extra        int              `json:"extra,omitempty"`       // tokens of the model's own count, see Piece
	Signatures   int              `json:"signatures,omitempty"`  // of thoughts
	SignedBytes  int              `json:"signedBytes,omitempty"` // their length together
}

// ToolClass groups tools by what their results look like. It is stored as a number: add new classes at the end.
type ToolClass int

// The classes of tools. OtherTool is any that a host's Rules do not list.
const (
	OtherTool ToolClass = iota
	ReadTool
	ShellTool
	SearchTool
	EditTool
	AgentTool
	toolClasses = iota
)

// Reads reports whether tools of the class show what is on the disk: their results can be had again.
func (c ToolClass) Reads() bool { return c == ReadTool || c == SearchTool }

// add returns c with a piece in it. open maps the calls that no result has answered to their class.
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

// textTokens returns how many tokens were counted in all, before they are weighed.
func (c Content) textTokens() int {
	sum := c.AnswerTokens + c.CallTokens + c.PromptTokens
	for _, n := range c.ResultTokens {
		sum += n
	}
	return sum
}
