package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ctxls/ctxls/internal/core"
)

// calibration returns what is known of how a model counts. Where that is nothing it only names the model and the encoding;
// without a model it is zero.
func (c *conn) calibration(ctx context.Context, model, encoding string) (core.Calibration, error) {
	plain := core.PlainModel(model)
	if plain == "" {
		return core.Calibration{}, nil
	}
	var known core.Calibration
	var data []byte
	found, err := c.row(ctx, "SELECT data FROM calibrations WHERE model = ? AND encoding = ?", []any{plain, encoding}, &data)
	if err == nil && found {
		if err = json.Unmarshal(data, &known); err != nil {
			err = fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	known.Model, known.Encoding = plain, encoding
	return known, err
}

// saveCalibration replaces what is known of how a model counts.
func (c *conn) saveCalibration(ctx context.Context, known core.Calibration) error {
	known.Model = core.PlainModel(known.Model)
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return c.exec(ctx, "INSERT INTO calibrations (model, encoding, data) VALUES (?, ?, ?) ON CONFLICT (model, encoding) DO UPDATE SET data = excluded.data",
		known.Model, known.Encoding, string(data))
}
