// A lock of `rowlock serve`: go run lock.go billing/nightly
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
)

type hold struct{ url string }

// ask returns the hold as the server describes it. An error begins with the status: 423 is busy, 410 is lost.
func (h hold) ask(method, verb string, body map[string]any) (granted map[string]any, err error) {
	text, _ := json.Marshal(body)
	request, err := http.NewRequest(method, h.url+verb, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("ROWLOCK_BEARER"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if err = json.NewDecoder(answer.Body).Decode(&granted); err == nil && answer.StatusCode != 200 {
		err = fmt.Errorf("%d: %v", answer.StatusCode, granted["error"])
	}
	return granted, err
}

func main() {
	id := make([]byte, 16)
	rand.Read(id)
	mine := hold{fmt.Sprintf("%s/v1/locks/%s/holds/%x", os.Getenv("ROWLOCK_SERVE"), url.PathEscape(os.Args[1]), id)}
	granted, err := mine.ask("PUT", "", map[string]any{"ttl_ms": 30000, "wait_ms": 60000})
	if err == nil {
		fmt.Printf("token %.0f\n", granted["token"])
		_, err = mine.ask("POST", "/renew", nil) // at least every third of the ttl
	}
	if err == nil {
		_, err = mine.ask("DELETE", "", nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
