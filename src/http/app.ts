import { Hono } from 'hono';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { authenticate, authenticateService } from '#http/authenticate.ts';
import type { HttpContext, HttpEnv, Route } from '#http/context.ts';
import { health } from '#http/health.ts';
import { createAccessToken } from '#http/internal/access-token.ts';
import { deadLetters } from '#http/internal/dead-letter.ts';
import { putMember, removeMember } from '#http/internal/member.ts';
import { putThreshold } from '#http/internal/threshold.ts';
import { createUser } from '#http/internal/user.ts';
import { createVault, readVault } from '#http/internal/vault.ts';
import { ObjectUnavailable } from '#http/object-call.ts';
import { deleteAccessToken } from '#http/personal-access-token/delete.ts';
import { listAccessTokens } from '#http/personal-access-token/list.ts';
import { readAccessToken } from '#http/personal-access-token/read.ts';
import { rotateAccessToken } from '#http/personal-access-token/rotate.ts';
import { updateAccessToken } from '#http/personal-access-token/update.ts';
import { problem } from '#http/problem.ts';
import { requestId } from '#http/request-id.ts';
import { approve } from '#http/transaction/approve.ts';
import { cancel } from '#http/transaction/cancel.ts';
import { challenge } from '#http/transaction/challenge.ts';
import { contractInteraction } from '#http/transaction/contract-interaction.ts';
import { erc20Approve } from '#http/transaction/erc20-approve.ts';
import { estimateFee } from '#http/transaction/estimate-fee.ts';
import { transactionHistory } from '#http/transaction/history.ts';
import { message } from '#http/transaction/message.ts';
import { readTransaction } from '#http/transaction/read.ts';
import { reject } from '#http/transaction/reject.ts';
import { transfer } from '#http/transaction/transfer.ts';
import { visibility } from '#http/transaction/visibility.ts';
import { me } from '#http/user/me.ts';
import { vaultHistory } from '#http/vault/history.ts';
import { vaultTransactions } from '#http/vault/transactions.ts';

/** The whole interface. What is not in this list does not exist. */
export const ROUTES: readonly Route[] = [
  estimateFee,
  transfer,
  message,
  contractInteraction,
  erc20Approve,
  readTransaction,
  challenge,
  approve,
  reject,
  cancel,
  visibility,
  transactionHistory,
  vaultTransactions,
  vaultHistory,
  listAccessTokens,
  readAccessToken,
  updateAccessToken,
  rotateAccessToken,
  deleteAccessToken,
  me,
  health,
  createUser,
  createAccessToken,
  createVault,
  readVault,
  putMember,
  removeMember,
  putThreshold,
  deadLetters,
];

const RETRY_SECONDS = '2';

export const app = new Hono<HttpEnv>();

app.use(requestId);
for (const route of ROUTES) {
  app.on([route.method], [route.path], ...doorsOf(route), ...(route.checks ?? []), (context) => route.handle(context));
}
app.notFound((context) => missing(context));
app.onError((error, context) => failed(error, context));

function doorsOf(route: Route): MiddlewareHandler<HttpEnv>[] {
  if (route.access === 'anyone') return [];
  return [route.access === 'service' ? authenticateService : authenticate(route.access)];
}

/** A path that exists with another method is 405 and says which; anything else is 404. */
function missing(context: HttpContext): Response {
  const path = context.req.path.split('/');
  const methods = ROUTES.filter((route) => matches(route.path.split('/'), path)).map((route) => route.method);
  if (methods.length === 0) return problem(context, 'not-found', { detail: 'No such path.' });
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  return problem(context, 'method-not-allowed', { detail: `This path takes ${allow}.`, headers: { allow } });
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((part, i) => (part.startsWith(':') ? path[i] !== '' : part === path[i]))
  );
}

function failed(error: Error, context: HttpContext): Response {
  if (error instanceof HTTPException && error.status === 400) {
    return problem(context, 'malformed-json', { detail: 'The body can not be read as JSON.' });
  }
  if (error instanceof ObjectUnavailable) {
    const headers = { 'retry-after': RETRY_SECONDS };
    return problem(context, 'unavailable', { detail: 'Nothing is known to be changed. Try again.', headers });
  }
  const requestIdText = context.get('requestId');
  console.error(
    JSON.stringify({ event: 'request-failed', requestId: requestIdText, error: `${error.name}: ${error.message}` }),
  );
  return problem(context, 'internal', { detail: 'The error was recorded under this request id.' });
}
