import { ScriptDevice } from '#cli/device/script-device.ts';
import { anotherToken, call, foundTreasury } from './scene.worker.ts';

const NAMES = ['alice', 'bob', 'carol'] as const;

/** Creates a vault in device mode in which two of three signers approve. */
export async function deviceTreasury(rules: object = {}) {
  const treasury = await foundTreasury({ rules });
  const devices = { alice: ScriptDevice.create(), bob: ScriptDevice.create(), carol: ScriptDevice.create() };
  const addDevices = NAMES.map((name) => devices[name].enrolment(treasury[name].id));
  // The co-signers are unreachable in this test, so the change names no co-signer keys.
  const line = `POST /vault/${treasury.id}/policy-change`;
  const { token: proposer } = await anotherToken(treasury.alice);
  const body = { approvalMode: 'device', addDevices, cosigners: null };
  const { id, digest } = (await call(line, { token: proposer, body })).body;
  for (const name of NAMES) {
    const { token } = await anotherToken(treasury[name]);
    await call(`${line}/${id}/approve`, { token, body: devices[name].sign(digest) });
  }
  return { treasury, devices };
}
