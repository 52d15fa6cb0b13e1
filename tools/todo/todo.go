package todo

// Status is the state of an [Item].
type Status string

// The states of an item.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Item is one step of the list.
type Item struct {
	Content string `json:"content"`
	Status  Status `json:"status"`
}
