package conversation

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/google/go-cmp/cmp"
)

func TestPrepare(t *testing.T) {
	messages := []string{user(words(40)), user(words(30)), user(words(31))}
	all := string(conversation(messages...).Messages)
	for _, tt := range []struct {
		name      string
		threshold int
		want      Prepared
	}{
		{"at the threshold nothing happens", 101, Prepared{Messages: json.RawMessage(all), Tokens: 101, OriginalTokens: 101, Removed: []int{}, Satisfied: true}},
		{"above it the target is met", 100, Prepared{
			Messages: json.RawMessage("[" + messages[2] + "]"), Tokens: 31, OriginalTokens: 101, Trimmed: true, Removed: []int{0, 1}, ExceedsThreshold: true, Satisfied: true,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := testMeter().Prepare(PrepareRequest{
				TaskID: "t", ThresholdTokens: &tt.threshold, TrimRequest: TrimRequest{Conversation: conversation(messages...), TargetTokens: new(50)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrepareRefuses(t *testing.T) {
	for _, tt := range []struct {
		req  PrepareRequest
		want string
	}{
		{PrepareRequest{}, "taskId: expected a string that is not empty"},
		{PrepareRequest{TaskID: "t", ThresholdTokens: new(0)}, "thresholdTokens: expected a whole number above 0, got 0"},
		{PrepareRequest{TaskID: "t"}, "messages: expected an array, got nothing"},
	} {
		_, err := testMeter().Prepare(tt.req)
		if e, ok := errors.AsType[*coded.Error](err); !ok || e.Code != coded.Invalid || e.Error() != tt.want {
			t.Errorf("got %v, want %s (invalid)", err, tt.want)
		}
	}
}

func TestPreparedJSON(t *testing.T) {
	got := Prepared{Messages: json.RawMessage(`[ 1.50 ]`), Tokens: 1, OriginalTokens: 2, Trimmed: true, Removed: []int{4}, ExceedsThreshold: true}
	want := `{"messages":[ 1.50 ],"tokens":1,"originalTokens":2,"trimmed":true,"removed":[4],"exceedsThreshold":true,"satisfied":false}`
	if diff := cmp.Diff(want, string(got.AppendJSON(nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
