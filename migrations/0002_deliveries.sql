CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`provider` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`body` text NOT NULL,
	`received_at_ms` integer NOT NULL,
	`state` text NOT NULL,
	`tries` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	`outcome` text,
	CONSTRAINT "deliveries_state" CHECK(state in ('open', 'done', 'failed'))
);
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`due_at_ms`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `deliveries_age` ON `deliveries` (`received_at_ms`) WHERE state = 'done';--> statement-breakpoint
CREATE INDEX `transactions_hash` ON `transactions` (`tx_hash`);