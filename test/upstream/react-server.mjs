/** Gives the suite of the React hooks the server under test, in place of one of its own. */

import { address } from './address.mjs'

/** Called by vitest, once. */
export function setup({ provide }) {
  provide('protocolV2ServerUrl', address)
}
