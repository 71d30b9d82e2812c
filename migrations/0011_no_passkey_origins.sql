ALTER TABLE `vaults` DROP COLUMN `passkey_origins`;
