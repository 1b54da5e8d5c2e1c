/** Sealed secrets: opened only with their key and at their place; and the file of the key. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { opened, sealed } from '../../../../src/platform/records/secrets/secret-box.ts'
import { readSecretsKeys } from '../../../../src/platform/records/secrets/secrets-key.ts'

const key = randomBytes(32)
const place = { tenant: 'acme', name: 'KEY' }
const box = sealed(key, place, 'sk-ö-1', randomBytes(32))

describe('a sealed secret', () => {
  it('is opened with its key, at its place', () => {
    expect(opened([key], place, box)).toEqual({ value: 'sk-ö-1', keyIndex: 0 })
    expect(opened([randomBytes(32), key], place, box)).toMatchObject({ keyIndex: 1 })
    expect(Buffer.from(box, 'base64').includes('sk-')).toBe(false)
  })

  it('looks different each time', () => {
    expect(sealed(key, place, 'sk-ö-1', randomBytes(32))).not.toBe(box)
  })

  it.each([
    ['another key', randomBytes(32), place, box],
    ['another tenant', key, { ...place, tenant: 'other' }, box],
    ['another name', key, { ...place, name: 'OTHER' }, box],
    ['a change', key, place, box.replace(/^./, (first) => first === 'A' ? 'B' : 'A')],
    ['nothing', key, place, ''],
  ])('is not opened with %s', (_, otherKey, otherPlace, otherBox) => {
    expect(() => opened([otherKey], otherPlace, otherBox)).toThrow('set it anew')
  })
})

describe('the file of the key', () => {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-key-'))

  it('has 32 bytes for each key, and is read again when it changes', () => {
    const file = join(folder, 'key')
    writeFileSync(file, key)
    const keys = readSecretsKeys(file)
    const [newer, later] = [randomBytes(32), new Date(Date.now() + 5_000)]
    expect(keys().map((each) => Buffer.from(each))).toEqual([key])
    writeFileSync(file, Buffer.concat([newer, key]))
    utimesSync(file, later, later)
    expect(keys().map((each) => Buffer.from(each))).toEqual([newer, key])
    writeFileSync(file, 'half')
    expect(keys()).toHaveLength(2)
  })

  it.each([31, 33, 0])('is refused with %i bytes, without showing them', (bytes) => {
    const file = join(folder, String(bytes))
    writeFileSync(file, 'k'.repeat(bytes))
    expect(() => readSecretsKeys(file)).toThrow(`has ${bytes} bytes and must have 32`)
    expect(() => readSecretsKeys(file)).not.toThrow(/kkk/)
  })

  it('is refused if it is not there', () => {
    expect(() => readSecretsKeys(join(folder, 'none'))).toThrow('--secrets-key')
  })
})
