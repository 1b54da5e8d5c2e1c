/** A question about a call shows no secrets: people, the log, webhooks and the Studio get it. */

import { expect, it } from 'vitest'

import type { Call } from '../../../../src/graph/calls/call.ts'
import { shownCall } from '../../../../src/graph/effects/call-receipt.ts'
import { byteHider } from '../../../../src/graph/recording/hidden-bytes.ts'

it('hides known values and credentials in the URL and the body of a call', () => {
  const hide = byteHider({ BANK_KEY: 'canary-12345' })
  const call = { method: 'POST', url: 'https://a.test/canary-12345?api_key=word' } as Call
  const body = Buffer.from('{"refresh_token":"word","note":"canary-12345","amount":20}')
  expect(shownCall(call, body, hide)).toEqual({ method: 'POST',
    url: 'https://a.test/************?api_key=***',
    body: { refresh_token: '****', note: '************', amount: 20 } })
})
