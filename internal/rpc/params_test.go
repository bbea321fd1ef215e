package rpc

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// The parameters that bypass the decoder equal the decoder's result, for duplicate members and in any order.
func TestSetAside(t *testing.T) {
	large := func(c string) string {
		return `[{"role":"user","content":"` + strings.Repeat(c, worthSettingAside) + `\"é\\"}]`
	}
	for i, members := range [][]string{
		{`"messages": ` + large("a"), `"model": "gpt-5"`, `"thresholdTokens": 7`},
		{`"model": "gpt-5"`, ` "messages" :` + large("a") + ` `, `"tools":[]`, `"system":` + large("s")},
		{`"messages":` + large("a"), `"messages":[]`},
		{`"messages":[]`, `"messages":` + large("a")},
		{`"messages":` + large("a"), `"messages":` + large("b")},
		{`"messages":` + large("a"), `"messages":[]`, `"messages":` + large("b")},
		{`"messages":{"x":` + large("a") + `}`, `"more":` + large("m")},
		{`"messages":null`, `"more":` + large("m")},
		{`"mess\u0061ges":` + large("a")},
		{`"mess\u0061ges":` + large("a"), `"messages":` + large("b")},
		{`"messages":` + large("a"), `"mess\u0061ges":` + large("b")},
		{`"mess\u0061ges":[]`, `"messages":` + large("b"), `"messag\u0065s":[1]`, `"messages":` + large("c")},
	} {
		params := "{" + strings.Join(members, ",") + "}"
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want := new(MeasureParams)
			if err := json.Unmarshal([]byte(params), want, transport.Lenient, jsontext.AllowDuplicateNames(true)); err != nil {
				t.Fatal(err)
			}
			want.Checked = true
			body := []byte(params)
			got, err := decode[MeasureParams](body)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-decoder +set aside):\n%s", err, diff)
			}
		})
	}
}

// setAside keeps the parameters in place, so only methods that run concurrently may use it.
func TestConversationsAreCountedSideBySide(t *testing.T) {
	found := 0
	for name, m := range methods {
		if _, ok := reflect.New(m.params).Interface().(conversational); !ok {
			continue
		}
		if found++; m.mode != sideBySide {
			t.Errorf("%s has a conversation and runs in mode %d: setAside must copy", name, m.mode)
		}
	}
	if found != 4 {
		t.Errorf("%d methods have a conversation, want 4", found)
	}
}
