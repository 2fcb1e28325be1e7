package faulttest

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
)

// operate asks the operators' listener.
func (c *child) operate(method, path string) string {
	c.t.Helper()
	client := newClient()
	defer leave(client)
	req, err := http.NewRequest(method, c.operators+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// metric is the value of a metric without labels.
func (c *child) metric(name string) float64 {
	c.t.Helper()
	text := c.operate("GET", "/metrics")
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		c.t.Fatalf("no metric %s in\n%s", name, text)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}
