CREATE TABLE `members` (
	`vault_id` integer NOT NULL,
	`user_id` text NOT NULL,
	PRIMARY KEY(`vault_id`, `user_id`)
);
--> statement-breakpoint
CREATE INDEX `members_user` ON `members` (`user_id`);