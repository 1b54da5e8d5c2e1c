/**
 * The secret of the socket for operator commands: a file that only the owner of the data directory
 * can read. The code of deployments may run as the same user, but cannot read it, because its
 * permissions do not include the data directory.
 */

import { timingSafeEqual } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'

const fileName = 'heddle.sock-secret'

/** The secret of a running server. */
export interface AdminSecret {
  /** Throws `forbidden` unless `given` is the secret. */
  require(given: unknown): void
  /** Removes the file, unless a newer server has written it since. */
  close(): void
}

/** Writes a new secret. Every earlier secret of the directory is invalid from then on. */
export function writeAdminSecret(directory: string, env: Pick<Env, 'secret'>): AdminSecret {
  const file = join(directory, fileName)
  const secret = env.secret()
  rmSync(file, { force: true })
  writeFileSync(file, secret, { mode: 0o600, flag: 'wx' })
  return {
    require: (given) => {
      if (typeof given === 'string' && isEqual(given, secret)) return
      throw new HeddleError('forbidden', 'The request does not have the secret of the running ' +
        `server, which is in ${fileName} of its data directory: use the command of the version ` +
        'that the server has.')
    },
    close: () => {
      if (isContentOf(file, secret)) rmSync(file, { force: true })
    },
  }
}

function isContentOf(file: string, secret: string): boolean {
  try {
    return readFileSync(file, 'utf8') === secret
  } catch {
    return false
  }
}

/** Reads the secret of the server that runs on a directory; undefined for an older server. */
export async function readAdminSecret(directory: string): Promise<string | undefined> {
  return await readFile(join(directory, fileName), 'utf8').catch(() => undefined)
}

function isEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
