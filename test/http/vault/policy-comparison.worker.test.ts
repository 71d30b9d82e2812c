import { expect, test } from 'vitest';
import { anotherToken, call, created, enter, foundTreasury, RECIPIENT, stored } from '../scene.worker.ts';

/** Covers the comparison of a policy change with the last transactions of a vault. */

const OTHER = '0x4444444444444444444444444444444444444444';
const BOOK = {
  recipients: 'address-book',
  addressBook: [{ chain: 'anvil', address: RECIPIENT, name: 'Landlord' }],
};

test('a patch and the pending change with the same content give the same comparison, and change nothing', async () => {
  const treasury = await foundTreasury({
    rules: { limitsIncludeFees: false, higherThresholds: [{ chain: 'anvil', above: '5000', threshold: 3 }] },
  });
  const landlord = await created(treasury);
  const stranger = await created(treasury, { to: OTHER });
  const patch = { ...BOOK, threshold: 1 };
  const line = `POST /vault/${treasury.id}/policy-comparison`;
  const before = await stored(treasury);
  const compared = await call(line, { token: treasury.victor.token, body: { patch } });
  expect(compared.status).toBe(200);
  expect(compared.body).toEqual({
    compared: 2,
    moreApprovals: 0,
    fewerApprovals: 1,
    refused: 1,
    noLongerRefused: 0,
    different: [
      {
        id: stranger.body['id'],
        before: { requiredApprovals: 2, forbiddenBy: null },
        after: { requiredApprovals: 1, forbiddenBy: { rule: 'address-book', detail: expect.stringContaining(OTHER) } },
      },
      {
        id: landlord.body['id'],
        before: { requiredApprovals: 2, forbiddenBy: null },
        after: { requiredApprovals: 1, forbiddenBy: null },
      },
    ],
  });
  expect(await stored(treasury)).toEqual(before);
  const { token } = await anotherToken(treasury.alice);
  const change = await call(`POST /vault/${treasury.id}/policy-change`, { token, body: patch });
  const changeId = change.body['id'];
  const ofChange = await call(line, { token: treasury.victor.token, body: { changeId } });
  expect(ofChange.body).toEqual(compared.body);
  await call(`POST /vault/${treasury.id}/policy-change/${changeId}/cancel`, { token });
  const late = await call(line, { token: treasury.victor.token, body: { changeId } });
  expect([late.status, late.body['code'], late.body['state']]).toEqual([409, 'policy-change-not-pending', 'CANCELLED']);
});

test('a comparison needs one policy that could be proposed, and names the field of another one', async () => {
  const treasury = await foundTreasury();
  const line = `POST /vault/${treasury.id}/policy-comparison`;
  const compare = async (body: object) => {
    const { status, body: answer } = await call(line, { token: treasury.victor.token, body });
    return [status, answer['code'], answer['errors']?.[0].pointer];
  };
  const changeId = `pch_${'0'.repeat(26)}`;
  expect(await compare({})).toEqual([400, 'invalid-request', '/']);
  expect(await compare({ patch: { threshold: 1 }, changeId })).toEqual([400, 'invalid-request', '/']);
  expect(await compare({ patch: { threshold: 9 } })).toEqual([400, 'invalid-request', '/patch/threshold']);
  expect(await compare({ patch: { maxFees: [{ chain: 'moon', amount: '1' }] } })).toEqual([
    400,
    'invalid-request',
    '/patch/maxFees/0/chain',
  ]);
  expect(await compare({ changeId: 'pch_1' })).toEqual([400, 'invalid-request', '/changeId']);
  expect(await compare({ changeId })).toEqual([404, 'policy-change-not-found', undefined]);
});

test('a person outside of the vault learns neither its transactions nor which users exist', async () => {
  const treasury = await foundTreasury();
  const mallory = await enter('mallory');
  for (const signers of [[treasury.alice.id], [`usr_${'0'.repeat(26)}`]]) {
    const answer = await call(`POST /vault/${treasury.id}/policy-comparison`, {
      token: mallory.token,
      body: { patch: { signers, threshold: 1 } },
    });
    expect([answer.status, answer.body['code']]).toEqual([403, 'forbidden']);
  }
});
