package human

// Input is what the model asks: one to four questions.
type Input struct {
	Questions []Question `json:"questions"`
}

// Question is one question with its choices.
type Question struct {
	Header      string   `json:"header"`
	Question    string   `json:"question"`
	MultiSelect bool     `json:"multiSelect"`
	Options     []Choice `json:"options"`
}

// Choice is one of the answers offered.
type Choice struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// Answer is what the person chose or wrote.
type Answer struct {
	Selections []string `json:"selections,omitempty"`
	Other      string   `json:"other,omitempty"`
}
