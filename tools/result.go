package tools

// Result is a result that can hold images beside its text.
type Result struct {
	Text   string  `json:"text"`
	Images []Image `json:"images,omitempty"`
}

// Image is a picture for models that see.
type Image struct {
	MediaType string `json:"media_type"` // image/png, image/jpeg, image/gif or image/webp
	Data      []byte `json:"data"`
}
