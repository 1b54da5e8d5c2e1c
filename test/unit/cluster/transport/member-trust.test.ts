/** The certificate files of members: read once, refused in a sentence. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { readMemberTls } from '../../../../cluster/index.ts'
import { authority, expired, key, member } from '../../../support/certificates.ts'
import { virtualEnv } from '../../../support/env.ts'

let folder: string
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-tls-'))
  const files = { authority, member, expired, key, nonsense: 'not a certificate' }
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(at(name), text)))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const read = (cert: string, env = virtualEnv()) =>
  readMemberTls({ ca: at('authority'), cert: at(cert), key: at('key') }, env)

describe('certificates from files', () => {
  it('are returned as they are', async () => {
    expect(await read('member')).toEqual({ ca: Buffer.from(authority), cert: Buffer.from(member),
      key: Buffer.from(key) })
  })

  it('are refused in a sentence if they cannot be used', async () => {
    const refused = (promise: Promise<unknown>, message: RegExp) =>
      expect(promise).rejects.toMatchObject({ code: 'invalid',
        message: expect.stringMatching(message) })
    await refused(read('missing'), /missing cannot be read/)
    await refused(read('nonsense'), /nonsense holds no certificate in PEM/)
    await refused(read('expired'), /expired on 2021-01-01.*put a new one there/)
    await refused(read('member', virtualEnv(0)), /valid from 2020-01-01.*set the clock/)
  })
})
