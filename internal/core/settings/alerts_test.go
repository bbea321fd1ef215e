package settings

import "testing"

func TestParseTrigger(t *testing.T) {
	for text, want := range map[string]Trigger{
		"warning":    {Name: "warning", Kind: "level", Level: "warning"},
		"compaction": {Name: "compaction", Kind: "compaction"},
		"85%":        {Name: "85%", Kind: "mark", Mark: Mark{Percent: 85}},
		"300k":       {Name: "300k", Kind: "mark", Mark: Mark{Tokens: 300_000}},
		"20k left":   {Name: "20k left", Kind: "left", Left: 20_000},
	} {
		if got, err := ParseTrigger(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "loud", "0%", "101%", "85", "999", "2000000000", "85% left", "left", "-5k"} {
		if got, err := ParseTrigger(text); err == nil {
			t.Errorf("%q: %+v; want an error", text, got)
		}
	}
}

func TestMarkIn(t *testing.T) {
	for mark, want := range map[Mark]int{{Percent: 85}: 170_000, {Tokens: 300_000}: 300_000, {Percent: 1}: 2_000} {
		if got := mark.In(200_000); got != want {
			t.Errorf("%+v: %d; want %d", mark, got, want)
		}
	}
	if got := (Mark{Percent: 33}).In(1000); got != 330 {
		t.Errorf("33%% of 1000: %d", got)
	}
}

func TestLevelsOfAModel(t *testing.T) {
	for _, marks := range [][]string{{"300k", "500k", "85%"}, {"50%", "70%", "85%"}} {
		if wrong := checkMarks("claude-opus-*", marks); wrong != "" {
			t.Errorf("%v: %s", marks, wrong)
		}
	}
	for _, marks := range [][]string{nil, {"50%", "70%"}, {"70%", "50%", "85%"}, {"50%", "70%", "much"}} {
		if wrong := checkMarks("claude-opus-*", marks); wrong == "" {
			t.Errorf("%v: want an error", marks)
		}
	}
	if wrong := checkMarks(" ", []string{"50%", "70%", "85%"}); wrong == "" {
		t.Error("an empty pattern: want an error")
	}
}
