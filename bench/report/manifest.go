package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// manifest is the file that tells a report of ours from somebody's folder.
const manifest = "report.json"

// format is what a manifest begins with.
const format = "preface bench economics 1"

// A stored report is what is in the manifest.
type stored struct {
	Format   string            `json:"format"`
	Files    []string          `json:"files"` // all of the folder
	Command  string            `json:"command"`
	Notes    []string          `json:"notes"`
	PriceDay string            `json:"price_day"`
	Results  []json.RawMessage `json:"results,omitempty"`
}

// json writes the manifest, with a line for each trace.
func (r *Report) json(files []File) ([]byte, error) {
	s := stored{Format: format, Command: r.Command, Notes: r.Notes, PriceDay: r.Options.PriceDate.Format(time.DateOnly)}
	for _, f := range files {
		s.Files = append(s.Files, f.Name)
	}
	s.Files = append(s.Files, manifest, Index)
	head, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", manifest, err)
	}
	b := bytes.NewBuffer(bytes.TrimSuffix(head, []byte("\n}")))
	b.WriteString(",\n \"results\": [")
	for i, t := range r.Traces {
		data, err := json.Marshal(t.Result)
		if err != nil {
			return nil, fmt.Errorf("cannot write the results of trace %q to %s: %w", t.Name, manifest, err)
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		b.Write(data)
	}
	b.WriteString("\n ]\n}\n")
	return b.Bytes(), nil
}
