package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// calibration returns the calibration of a model. If none is stored, it only has the model and the encoding; without a model it is zero.
func (c *conn) calibration(ctx context.Context, modelID, encoding string) (session.Calibration, error) {
	plain := model.Plain(modelID)
	if plain == "" {
		return session.Calibration{}, nil
	}
	var known session.Calibration
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

// saveCalibration replaces the calibration of a model.
func (c *conn) saveCalibration(ctx context.Context, known session.Calibration) error {
	known.Model = model.Plain(known.Model)
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return c.exec(ctx, "INSERT INTO calibrations (model, encoding, data) VALUES (?, ?, ?) ON CONFLICT (model, encoding) DO UPDATE SET data = excluded.data",
		known.Model, known.Encoding, string(data))
}
