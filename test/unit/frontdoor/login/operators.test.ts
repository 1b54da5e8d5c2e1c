/** What operators ask about the data of a project with a login: their keys count, not the login. */

import { expect, it } from 'vitest'

import { keyAdmin } from '../../../../src/access/index.ts'
import type { CallerRole } from '../../../../src/access/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { giveAnn, openLoginDoor, threadId } from './login-door.ts'

const path = `/threads/${threadId}/place`

it('Without keys, everybody who reaches the server may ask where a thread is', async () => {
  const opened = await openLoginDoor()
  await giveAnn(opened)
  for (const name of ['ann', 'ben', 'out', undefined]) {
    expect(await opened.as(name, 'GET', path)).toMatchObject({ status: 200, json: { member: 'm' } })
  }
  // What the login guards stays closed.
  expect((await opened.as(undefined, 'GET', `/threads/${threadId}`)).status).toBe(401)
  expect((await opened.as('ben', 'GET', `/threads/${threadId}`)).status).toBe(404)
})

it('With keys, only an admin may ask where a thread is, and no user of the login', async () => {
  const table = new MemoryKeys()
  const opened = await openLoginDoor(undefined, {
    auth: { keys: table, region: 'us', regionUrls: { us: '' }, sessions: null,
      addressOf: addressReader([]) },
  })
  await giveAnn(opened)
  const admin = keyAdmin({ table, region: 'us', env: virtualEnv() })
  const statusFor = async (role: CallerRole) => {
    const { key } = await admin.create({ tenant: 'local', role, name: '', deployment: null,
      expiresInMs: null })
    return (await opened.as(undefined, 'GET', path, undefined, { 'x-api-key': key })).status
  }
  expect(await statusFor('admin')).toBe(200)
  expect(await statusFor('developer')).toBe(403)
  expect((await opened.as('ann', 'GET', path)).status).toBe(401)
})
