/** The doctor: reads a machine, its settings and its store, and says what is wrong with them. */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import type { KeyDetails } from '../../access/index.ts'
import { HeddleError } from '../../errors.ts'
import { isLoopback } from '../../settings/index.ts'
import type { Settings } from '../../settings/index.ts'
import { readKeyspaces } from '../../store/cassandra/index.ts'
import { backupEndings, checkBackup, manifestEnding,
  readSchema } from '../../store/embedded/index.ts'
import { openAdminAccess } from '../admin-access.ts'
import { posingAddresses } from '../deployments/posing-proxies.ts'
import type { RevisionsAdmin, RevisionsRequest } from '../deployments/revisions-admin.ts'
import { connectionOptions } from '../backends/cassandra-connection.ts'
import { thisMachine } from '../graphs-users/graphs-users.ts'
import { namedUsers } from '../graphs-users/named-users.ts'
import { usersFault } from '../graphs-users/users-fault.ts'
import { lastClockJump } from '../clock-jumps.ts'
import { lastBackup } from '../operator/backup.ts'
import { secretsKeyFile } from '../secrets-keys.ts'
import { examine } from './checks.ts'
import type { Finding } from './checks.ts'
import { readCertificates, readDescriptors, readDisk, readMemoryMb, readPrivateFiles,
  timeFsync } from './read-machine.ts'
import type { CassandraReading, Reading, SchemaReading } from './reading.ts'

/** Examines what a server with these settings has; deep: all bytes too. Changes nothing. */
export async function consultDoctor(settings: Settings, env: Env,
  deep = false): Promise<readonly Finding[]> {
  return examine({ ...readMachine(settings, env), ...await readStore(settings, env, deep) })
}

function readMachine(settings: Settings, env: Env): Reading {
  const { dataDirectory, workers, workerHeapMb: heapMb, auth, host, trustedProxies, userProxies } =
    settings
  const users = namedUsers(settings)
  const limitMb = readMemoryMb()
  const graphsMb = settings.graphsMemoryMb ?? Math.floor(limitMb / 2)
  const fsyncMs = timeFsync(dataDirectory, env)
  const descriptors = readDescriptors()
  return {
    nowMs: env.nowMs(),
    node: process.versions.node,
    ...fsyncMs !== undefined && { fsyncMs },
    disk: readDisk(dataDirectory),
    ...descriptors !== undefined && { descriptors },
    memory: { limitMb, graphsMb, workers, ...heapMb !== undefined && { heapMb } },
    ...users &&
      {
        graphsUsers: { count: users.last - users.first + 1,
          fault: usersFault(users, thisMachine()) },
      },
    ...readCertificates(certificateFiles(settings)),
    privateFiles: readPrivateFiles(privateFilesOf(settings)),
    ...existsSync(dataDirectory) && { clockJump: lastClockJump(dataDirectory) ?? null },
    auth,
    isPublic: !isLoopback(host),
    trustedProxies: trustedProxies.length,
    ...userProxies.length > 0 && { posing: posingAddresses(settings) },
  }
}

function certificateFiles({ cassandra }: Settings): readonly string[] {
  const files = [cassandra?.tls?.ca, cassandra?.tls?.cert, cassandra?.member.tls?.ca,
    cassandra?.member.tls?.cert]
  return files.filter((file) => file !== undefined)
}

/** Files whose readers could harm the server: keys, passwords, and all data. */
function privateFilesOf(settings: Settings): readonly string[] {
  const { cassandra, dataDirectory: directory } = settings
  const data = existsSync(directory) ? readdirSync(directory).filter(isPrivate) : []
  const backup = cassandra === null ? lastBackup(directory)?.file : undefined
  const files = [secretsKeyFile(settings), cassandra?.tls?.key, cassandra?.member.tls?.key,
    cassandra?.passwordFile, ...data.map((name) => join(directory, name)), ...backup === undefined
    ? []
    : [...backupEndings, manifestEnding].map((end) => `${backup}${end}`)]
  return [...new Set(files.filter((file) => file !== undefined))]
}

function isPrivate(name: string): boolean {
  return /\.(db|db-wal|db-ahead|key|sock-secret)$|^executing-/.test(name)
}

async function readStore(settings: Settings, env: Env, deep: boolean): Promise<Partial<Reading>> {
  const { cassandra, dataDirectory: directory } = settings
  if (cassandra === null) {
    const schema = readSchema(directory)
    const fault = deep ? faultOfBackup(directory) : undefined
    const found = { lastBackupMs: lastBackup(directory)?.atMs ?? null,
      ...fault !== undefined && { lastBackupFault: fault }, ...schema && { schema } }
    // The first start makes what is missing.
    if (!existsSync(directory)) return {}
    return { ...found, ...isCurrent(schema) && await readTables(settings, env, deep) }
  }
  const { member: { secret, tls } } = cassandra
  const hasClusterSecret = secret !== '' || tls !== null
  try {
    const { schema, ...keyspaces } = await readKeyspaces({ ...connectionOptions(cassandra), env })
    return { hasClusterSecret, schema, cassandra: orphansIn(keyspaces),
      ...isCurrent(schema) && await readTables(settings, env, deep) }
  } catch (error) {
    return { hasClusterSecret, storeFault: HeddleError.from(error).message }
  }
}

/** Compares the last backup with its manifest, if its files are still in their places. */
function faultOfBackup(directory: string): string | undefined {
  const backup = lastBackup(directory)?.file
  if (backup === undefined || !existsSync(backup)) return undefined
  try {
    checkBackup(backup, 'expected', () => {})
    return undefined
  } catch (error) {
    return HeddleError.from(error).message
  }
}

/** True if the schema is this program's. Opening older tables would change them. */
function isCurrent(schema: SchemaReading | undefined): boolean {
  return schema !== undefined && schema.oldest <= schema.known && schema.newest >= schema.known
}

type Keyspaces = Omit<Awaited<ReturnType<typeof readKeyspaces>>, 'schema'>

function orphansIn({ owned, members, ...found }: Keyspaces): CassandraReading {
  const up = new Set(members.map(({ id }) => id))
  const orphaned = owned.filter(({ session }) => session !== null && !up.has(session))
  return { ...found, members, orphaned: orphaned.map(({ shard }) => shard) }
}

/** Reads tables through the server that runs there, or else from the store itself. */
async function readTables(settings: Settings, env: Env, deep: boolean): Promise<Partial<Reading>> {
  try {
    const { keyAdmin, secrets, revisions, close } = await openAdminAccess(settings, env)
    try {
      const survey = await secrets.survey({ rekey: false }).catch(() => undefined)
      const kept = await readRevisions(revisions, deep)
      return { keys: (await keyAdmin.list()).filter(isValid), ...survey && { secrets: survey },
        ...kept && { revisions: kept } }
    } finally {
      await close()
    }
  } catch (error) {
    return { storeFault: HeddleError.from(error).message }
  }
}

/** Survey of all revisions; undefined if no server answers that can read them. */
async function readRevisions(revisions: RevisionsAdmin,
  deep: boolean): Promise<Reading['revisions']> {
  const broken = new Set<string>()
  let stored = 0
  try {
    for (let options: RevisionsRequest = { after: null, chunk: 0, deep };;) {
      const found = await revisions.survey(options)
      if (found === null) return { stored, broken: [...broken], deep }
      const { name, nextChunk } = found
      if (found.broken > 0) broken.add(name)
      if (nextChunk === null) stored++
      options = nextChunk === null
        ? { after: name, chunk: 0, deep }
        : { ...options, chunk: nextChunk }
    }
  } catch {
    return undefined
  }
}

function isValid({ revokedAtMs }: KeyDetails): boolean {
  return revokedAtMs === null
}
