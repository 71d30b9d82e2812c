import type { Route } from '#http/edge/route.ts';
import { health, ready } from '#http/health.ts';
import { createAccessToken } from '#http/internal/access-token.ts';
import { acknowledge } from '#http/internal/alert.ts';
import { deadLetters } from '#http/internal/dead-letter.ts';
import { metrics } from '#http/internal/metrics.ts';
import { status } from '#http/internal/status.ts';
import { putMember, removeMember } from '#http/internal/member.ts';
import { proposeAsOperator } from '#http/internal/policy-change.ts';
import { giveUpRefresh, readKey, refreshKey } from '#http/internal/key.ts';
import { rebuildReadModel } from '#http/internal/rebuild-read-model.ts';
import { exportRecovery } from '#http/internal/recovery.ts';
import {
  issueResetToken,
  issueResetSession,
  readCredentialResets,
  releaseIdentity,
  requestCredentialReset,
} from '#http/internal/credential-reset.ts';
import { readProgress } from '#http/internal/transaction.ts';
import { createUser } from '#http/internal/user.ts';
import { disableUser, enableUser, endCredential, listCredentials } from '#http/internal/user-access.ts';
import { createSession } from '#http/internal/session.ts';
import { createVault, readVault } from '#http/internal/vault.ts';
import { putWallet } from '#http/internal/wallet.ts';
import { deleteAccessToken } from '#http/personal-access-token/delete.ts';
import { listAccessTokens } from '#http/personal-access-token/list.ts';
import { readAccessToken } from '#http/personal-access-token/read.ts';
import { rotateAccessToken } from '#http/personal-access-token/rotate.ts';
import { updateAccessToken } from '#http/personal-access-token/update.ts';
import { approve } from '#http/transaction/approve.ts';
import { cancel } from '#http/transaction/cancel.ts';
import { childPaysForParent } from '#http/transaction/child-pays-for-parent.ts';
import { challenge } from '#http/transaction/challenge.ts';
import { simulation } from '#http/transaction/simulation.ts';
import { contractInteraction } from '#http/transaction/contract-interaction.ts';
import { erc20Approve } from '#http/transaction/erc20-approve.ts';
import { estimateFee } from '#http/transaction/estimate-fee.ts';
import { transactionHistory } from '#http/transaction/history.ts';
import { message } from '#http/transaction/message.ts';
import { readTransaction } from '#http/transaction/read.ts';
import { reject } from '#http/transaction/reject.ts';
import { speedUp } from '#http/transaction/speed-up.ts';
import { transfer } from '#http/transaction/transfer.ts';
import { visibility } from '#http/transaction/visibility.ts';
import { receiveWebhook } from '#http/webhook/receive.ts';
import { listPushSubscriptions } from '#http/push-subscription/list.ts';
import { subscribe } from '#http/push-subscription/subscribe.ts';
import { unsubscribe } from '#http/push-subscription/unsubscribe.ts';
import { ownVaults } from '#http/session/vaults.ts';
import { createOwnToken } from '#http/session/access-token.ts';
import { endAllSessions } from '#http/session/end-all.ts';
import { endSession } from '#http/session/end.ts';
import { beginLoginRoute } from '#http/login/begin.ts';
import { endLoginRoute } from '#http/login/callback.ts';
import { cancelOwnCredentialReset, ownCredentialResets } from '#http/user/credential-reset.ts';
import { me } from '#http/user/me.ts';
import { ownEvents } from '#http/user/events.ts';
import { ownNotifications, readNotifications } from '#http/user/notifications.ts';
import { ownFeed } from '#http/user/feed.ts';
import { ownPending } from '#http/user/pending.ts';
import { acceptVault, declineVault } from '#http/vault/member/invitation.ts';
import { vaultBalances } from '#http/vault/balances.ts';
import { vaultEvents } from '#http/vault/events.ts';
import { vaultFeed } from '#http/vault/feed.ts';
import { vaultHistory } from '#http/vault/history.ts';
import { cancelByDevice } from '#http/vault/credential-reset/cancel-by-device.ts';
import { cancelCredentialReset } from '#http/vault/credential-reset/cancel.ts';
import { listCredentialResets } from '#http/vault/credential-reset/list.ts';
import {
  disableMember,
  enableMember,
  endMemberCredential,
  listMemberCredentials,
  listMembers,
} from '#http/vault/member/access.ts';
import { approvePolicyChange } from '#http/vault/policy-change/approve.ts';
import { cancelPolicyChange } from '#http/vault/policy-change/cancel.ts';
import { comparePolicyChange } from '#http/vault/policy-change/compare.ts';
import { listPolicyChanges } from '#http/vault/policy-change/list.ts';
import { proposePolicyChange } from '#http/vault/policy-change/propose.ts';
import { readPolicyChange } from '#http/vault/policy-change/read.ts';
import { renewMandate } from '#http/vault/policy-change/renew.ts';
import { rejectPolicyChange } from '#http/vault/policy-change/reject.ts';
import { listPolicies } from '#http/vault/policies.ts';
import { readPolicy } from '#http/vault/policy.ts';
import { recoveryExports } from '#http/vault/recovery-exports.ts';
import { consolidate } from '#http/vault/consolidate.ts';
import { vaultUtxos } from '#http/vault/utxo/list.ts';
import { lockUtxo } from '#http/vault/utxo/lock.ts';
import { unlockUtxo } from '#http/vault/utxo/unlock.ts';
import { listReports } from '#http/vault/reprocess/list.ts';
import { readReport } from '#http/vault/reprocess/read.ts';
import { reprocess } from '#http/vault/reprocess/request.ts';
import { vaultTransactions } from '#http/vault/transactions.ts';
import { listVaults, readVault as readMemberVault } from '#http/vault/vaults.ts';

const routes = [
  estimateFee,
  transfer,
  message,
  contractInteraction,
  erc20Approve,
  readTransaction,
  challenge,
  simulation,
  approve,
  reject,
  cancel,
  speedUp,
  childPaysForParent,
  visibility,
  transactionHistory,
  listVaults,
  readMemberVault,
  vaultTransactions,
  vaultBalances,
  vaultEvents,
  vaultFeed,
  reprocess,
  listReports,
  readReport,
  consolidate,
  vaultUtxos,
  lockUtxo,
  unlockUtxo,
  vaultHistory,
  recoveryExports,
  readPolicy,
  listPolicies,
  proposePolicyChange,
  comparePolicyChange,
  renewMandate,
  listPolicyChanges,
  readPolicyChange,
  approvePolicyChange,
  rejectPolicyChange,
  cancelPolicyChange,
  listCredentialResets,
  cancelCredentialReset,
  cancelByDevice,
  listMembers,
  listMemberCredentials,
  endMemberCredential,
  acceptVault,
  declineVault,
  disableMember,
  enableMember,
  listAccessTokens,
  readAccessToken,
  updateAccessToken,
  rotateAccessToken,
  deleteAccessToken,
  listPushSubscriptions,
  subscribe,
  unsubscribe,
  me,
  ownFeed,
  ownPending,
  ownNotifications,
  readNotifications,
  ownEvents,
  ownCredentialResets,
  cancelOwnCredentialReset,
  beginLoginRoute,
  endLoginRoute,
  endSession,
  endAllSessions,
  createOwnToken,
  ownVaults,
  receiveWebhook,
  health,
  ready,
  createUser,
  createAccessToken,
  createSession,
  listCredentials,
  endCredential,
  disableUser,
  enableUser,
  requestCredentialReset,
  readCredentialResets,
  issueResetToken,
  issueResetSession,
  releaseIdentity,
  createVault,
  readVault,
  readKey,
  refreshKey,
  giveUpRefresh,
  exportRecovery,
  putMember,
  removeMember,
  proposeAsOperator,
  putWallet,
  rebuildReadModel,
  deadLetters,
  readProgress,
  acknowledge,
  status,
  metrics,
] as const;

/** All routes. A route that is not in this list does not exist. */
export const ROUTES: readonly Route[] = routes;

export type Routes = typeof routes;
