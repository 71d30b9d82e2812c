ALTER TABLE `access_tokens` ADD `deleted_at_ms` integer;--> statement-breakpoint
ALTER TABLE `access_tokens` DROP COLUMN `name`;--> statement-breakpoint
ALTER TABLE `access_tokens` DROP COLUMN `expires_at`;--> statement-breakpoint
ALTER TABLE `access_tokens` DROP COLUMN `enabled`;