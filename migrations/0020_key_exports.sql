CREATE TABLE `key_exports` (
	`key_id` text PRIMARY KEY NOT NULL,
	`vault_id` integer NOT NULL,
	`outdated_since_ms` integer,
	`exported_at_ms` integer,
	`recipients` text
);
--> statement-breakpoint
CREATE INDEX `key_exports_outdated` ON `key_exports` (`outdated_since_ms`) WHERE outdated_since_ms is not null;
--> statement-breakpoint
INSERT INTO `key_exports` (`key_id`, `vault_id`, `outdated_since_ms`)
SELECT `key_id`, min(`vault_id`), unixepoch() * 1000 FROM `wallets` GROUP BY `key_id`;
