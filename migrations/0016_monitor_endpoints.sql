CREATE TABLE `monitor_endpoints` (
	`endpoint_id` text PRIMARY KEY NOT NULL,
	`last_delivery_at_ms` integer NOT NULL,
	`unread` integer NOT NULL,
	`unread_kind` text,
	`unread_at_ms` integer,
	`second_unread_at_ms` integer,
	`third_unread_at_ms` integer
);
