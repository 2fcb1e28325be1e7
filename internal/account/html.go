package account

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed report.html
var page string

// A page is written by html/template, which escapes every text for where it
// stands.
var pageTemplate = template.Must(template.New("report").Parse(page))

// WriteHTML writes the report as one file that needs nothing from elsewhere and
// has no script.
func (r *Report) WriteHTML(w io.Writer) error {
	if err := pageTemplate.Execute(w, r.document()); err != nil {
		return fmt.Errorf("cannot write the report as HTML: %w", err)
	}
	return nil
}
