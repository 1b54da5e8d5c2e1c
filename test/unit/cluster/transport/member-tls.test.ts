/** The certificate files of members: refused in a sentence, and read again when they change. */

import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { readMemberTls, systemEnv } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { sight } from '../../../../cluster/transport/grpc/probe.ts'
import { authority, expired, key, member, outsider } from '../../../support/certificates.ts'
import { virtualEnv } from '../../../support/env.ts'
import { identity, memberThat } from './grpc/grpc-house.ts'

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

/** Time flies for looks at files. */
function hasty(): Env {
  const env = systemEnv({ level: 'silent' })
  let looks = 0
  return { ...env, monotonicMs: () => ++looks * 10_000, every: (_, look) => env.every(10, look) }
}

let stamps = 0
const replace = async (name: string, text: string) => {
  await writeFile(at(name), text)
  const later = new Date(Date.now() + ++stamps * 10_000)
  await utimes(at(name), later, later)
}

describe('certificates from files', () => {
  it('are returned as they are', () => {
    expect(read('member')).toEqual({ ca: Buffer.from(authority), cert: Buffer.from(member),
      key: Buffer.from(key) })
  })

  it('are refused in a sentence if they cannot be used', () => {
    const refused = (cert: string, message: RegExp, env = virtualEnv()) =>
      expect(() => read(cert, env)).toThrow(
        expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }),
      )
    refused('missing', /missing cannot be read/)
    refused('nonsense', /nonsense holds no certificate in PEM/)
    refused('expired', /expired on 2021-01-01.*put a new one there/)
    refused('member', /valid from 2020-01-01.*set the clock/, virtualEnv(0))
  })

  it('are read again when they change, unless the new ones cannot be used', async () => {
    await Promise.all([replace('ca', outsider), replace('cert', member)])
    const tls = readMemberTls({ ca: at('ca'), cert: at('cert'), key: at('key') }, hasty())
    await replace('ca', authority)
    expect(tls.ca).toEqual(Buffer.from(authority))
    await replace('cert', expired)
    expect(tls.cert).toEqual(Buffer.from(member))
    await replace('cert', 'half of a')
    expect(tls.cert).toEqual(Buffer.from(member))
    await rm(at('cert'))
    expect(tls.cert).toEqual(Buffer.from(member))
  })

  it('are shown by a server that runs on', async () => {
    await Promise.all([replace('ca', outsider), replace('cert', member)])
    const files = { ca: at('ca'), cert: at('cert'), key: at('key') }
    const env = hasty()
    const there = await memberThat({}, { env, trust: { tls: readMemberTls(files, env) },
      host: 'localhost' })
    const asking = { env: systemEnv({ level: 'silent' }), identity, trust: { tls: read('member') } }
    expect(await sight(there, asking)).not.toEqual({ kind: 'alive' })
    await replace('ca', authority)
    await expect.poll(() => sight(there, asking)).toEqual({ kind: 'alive' })
  })
})
