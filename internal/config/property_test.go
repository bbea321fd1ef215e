package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core/settings"
)

// A file, the environment and the command line set every setting alike.
func TestEveryDoorSetsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	rapid.Check(t, func(rt *rapid.T) {
		want := anyConfig(rt)
		data, err := json.Marshal(want)
		if err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			rt.Fatal(err)
		}
		flags := map[string]string{}
		var env []string
		for key, value := range flat(t, want) {
			var s string
			if json.Unmarshal([]byte(value), &s) == nil && value != "null" {
				value = s // shell values need no quotes
			}
			flags[key] = value
			env = append(env, config.EnvName(key)+"="+value)
		}
		for name, s := range map[string]config.Sources{"file": {UserFile: path}, "env": {Env: env}, "flags": {Flags: flags}} {
			got, problems := config.Load(s)
			if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
				rt.Errorf("%s (-want +got):\n%s\nproblems:\n%s", name, diff, join(problems))
			}
		}
	})
}

// A workspace changes only the settings that a workspace may set.
func TestWorkspaceReachesNothingElse(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		data, err := json.Marshal(anyConfig(rt))
		if err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".ctxls.json"), data, 0o600); err != nil {
			rt.Fatal(err)
		}
		want := flat(t, settings.Default())
		for name, s := range map[string]config.Sources{"workspace": {CWD: dir}, "client": {Client: config.Overlay{Name: "client", JSON: data}}} {
			got, problems := config.Load(s)
			for key, value := range flat(t, got) {
				allowed := slices.ContainsFunc(settings.WorkspaceKeys, func(k string) bool { return key == k || strings.HasPrefix(key, k+".") })
				if !allowed && value != want[key] {
					rt.Errorf("%s: %s became %s", name, key, value)
				}
			}
			if slices.ContainsFunc(problems, func(p config.Problem) bool { return !p.Warning }) {
				rt.Errorf("%s: a right file is an error:\n%s", name, join(problems))
			}
		}
	})
}

// anyConfig draws valid settings. No text is empty, since an empty variable means not set.
func anyConfig(t *rapid.T) settings.Config {
	tokens := rapid.IntRange(1, 1_000_000_000)
	percent := rapid.IntRange(1, 100)
	text := rapid.StringN(1, 20, -1)
	limit := rapid.Ptr(rapid.IntRange(0, 1_000_000_000), true)
	threshold := tokens.Draw(t, "threshold")
	low := rapid.IntRange(1, 98).Draw(t, "notice")
	middle := rapid.IntRange(low+1, 99).Draw(t, "warning")
	return settings.Config{
		Window: settings.WindowConfig{
			DefaultTokens: tokens.Draw(t, "window"),
			Overrides:     rapid.MapOf(rapid.StringMatching(`[a-z"\\é.\[\]*]{1,9}`), tokens).Draw(t, "overrides"),
		},
		Levels: []int{low, middle, rapid.IntRange(middle+1, 100).Draw(t, "critical")},
		Tracking: settings.TrackingConfig{
			MaxTokens: rapid.OneOf(
				rapid.Just(settings.TokenLimit{}), rapid.Just(settings.TokenLimit{Auto: true}),
				rapid.Map(tokens, func(n int) settings.TokenLimit { return settings.TokenLimit{Tokens: n} }),
			).Draw(t, "maxTokens"),
			GuardDir: rapid.StringMatching(`[a-z.]{0,5}[a-z]/[a-z]`).Draw(t, "guardDir"),
			Guidance: rapid.Bool().Draw(t, "guidance"),
		},
		Reminder: settings.ReminderConfig{
			Enabled:            rapid.Bool().Draw(t, "reminder"),
			ThresholdPercent:   percent.Draw(t, "thresholdPercent"),
			AnthropicOnly:      rapid.Bool().Draw(t, "anthropicOnly"),
			Rearm:              rapid.SampledFrom([]string{"session", "compaction"}).Draw(t, "rearm"),
			ActualLimitTokens:  limit.Draw(t, "actual"),
			DisplayLimitTokens: limit.Draw(t, "display"),
			Message:            text.Draw(t, "message"),
		},
		Handoff: settings.HandoffConfig{Enabled: rapid.Bool().Draw(t, "handoff"), Percent: percent.Draw(t, "handoffPercent")},
		Compaction: settings.CompactionConfig{
			PostCompactionPercent: rapid.Ptr(rapid.IntRange(10, 60), true).Draw(t, "postCompaction"),
			MaxPaths:              rapid.IntRange(1, 200).Draw(t, "maxPaths"),
			MaxPathLength:         rapid.IntRange(20, 4096).Draw(t, "maxPathLength"),
		},
		Trim: settings.TrimConfig{ThresholdTokens: threshold, TargetTokens: rapid.IntRange(1, threshold).Draw(t, "target")},
		Metrics: settings.MetricsConfig{
			WindowTasks:     rapid.IntRange(1, 100_000).Draw(t, "windowTasks"),
			ThresholdTokens: tokens.Draw(t, "metricsThreshold"),
			AlertRate:       rapid.Float64Range(0, 1).Draw(t, "alertRate"),
			AlertIntervalMs: rapid.IntRange(0, 86_400_000).Draw(t, "alertInterval"),
		},
		Usage: settings.UsageConfig{
			CountCacheWrites: rapid.Bool().Draw(t, "countCacheWrites"),
			CountOutput:      rapid.Ptr(rapid.Bool(), true).Draw(t, "countOutput"),
		},
		ModelLevels: rapid.MapOf(rapid.StringMatching(`[a-z"*-]{1,9}`), rapid.Just([]string{"300k", "500k", "85%"})).Draw(t, "modelLevels"),
		Alerts: settings.AlertsConfig{
			At:         rapid.SliceOfN(rapid.SampledFrom([]string{"notice", "critical", "85%", "300k", "20k left", "compaction", "fleet"}), 1, 9).Draw(t, "at"),
			Command:    text.Draw(t, "command"),
			Notify:     rapid.Bool().Draw(t, "notify"),
			IntervalMs: rapid.IntRange(0, 86_400_000).Draw(t, "alertsInterval"),
		},
		Statusline: settings.StatuslineConfig{Format: text.Draw(t, "format")},
		Store: settings.StoreConfig{
			Path:        "~/" + text.Draw(t, "storePath"),
			MaxSessions: rapid.IntRange(1, 100_000).Draw(t, "maxSessions"),
			KeepPrompts: rapid.Bool().Draw(t, "keepPrompts"),
		},
		Log: settings.LogConfig{
			Level: rapid.SampledFrom([]string{"debug", "info", "warn", "error"}).Draw(t, "logLevel"),
			Path:  "~/" + text.Draw(t, "logPath"),
		},
	}
}
