// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"

	"golang.org/x/net/http2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A fakeNetwork is what is between the engine and a cluster: a proxy that answers instead of the cluster, or connections that end
// before or after the cluster got a request.
type fakeNetwork struct {
	random *rand.Rand
	// chance is the mean number of requests between two faults, and left the number of faults to come.
	chance, left int
}

// pass sends a request to the cluster, or fails to.
func (f *fakeNetwork) pass(r *http.Request, serve func() *http.Response) (*http.Response, error) {
	if f.left == 0 || f.random.IntN(f.chance) > 0 {
		return serve(), nil
	}
	f.left--
	status := func(code int32, reason metav1.StatusReason) (*http.Response, error) {
		return answered(r, int(code), "application/json", statusBody(code, reason)), nil
	}
	switch f.random.IntN(11) {
	case 0:
		p := pages[slices.Sorted(maps.Keys(pages))[f.random.IntN(len(pages))]]
		return answered(r, http.StatusNotFound, p.contentType, p.body), nil
	case 1:
		return answered(r, http.StatusBadGateway, "text/html", "<html>502</html>"), nil
	case 2:
		_ = serve()
		return answered(r, http.StatusBadGateway, "text/html", "<html>502</html>"), nil
	case 3:
		return cutShort(serve()), nil
	case 4:
		return nil, errCut
	case 5:
		_ = serve()
		return nil, errCut
	case 6:
		return answered(r, http.StatusOK, "text/html", "<html>log in</html>"), nil
	case 7:
		_ = serve()
		return status(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	case 8:
		_ = serve()
		return status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout)
	case 9:
		return status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized)
	}
	return status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
}

func answered(r *http.Request, code int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {contentType}}, Request: r, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader([]byte(body))),
	}
}

func statusBody(code int32, reason metav1.StatusReason) string {
	st := refusal(code, reason, "weather")
	st.TypeMeta, st.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
	b, err := json.Marshal(st)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// cutShort ends a response in the middle of its body.
func cutShort(r *http.Response) *http.Response {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(b[:len(b)/2]), brokenReader{}))
	return r
}

type brokenReader struct{}

// Read fails as a broken HTTP/2 stream does. client-go logs any other error.
func (brokenReader) Read([]byte) (int, error) {
	return 0, http2.StreamError{StreamID: 1, Code: http2.ErrCodeInternal}
}
