/** The jars of Apache Cassandra: fetched once from Maven Central, then kept in the user's cache. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const version = '5.0.9'

const run = promisify(execFile)

/** The program that runs a node. */
export const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin/java') : 'java'

/** What this machine lacks to run Cassandra, in one sentence; undefined if it lacks nothing. */
export async function whatIsMissing(): Promise<string | undefined> {
  if (process.platform === 'win32') {
    return 'Cassandra does not run on Windows itself: use deploy/compose.yaml, with containers.'
  }
  const said = await run(java, ['-version']).then(({ stderr }) => stderr, () => '')
  const found = /version "(\d+)/.exec(said)?.[1]
  if (found !== '17') {
    return `Cassandra needs Java 17, and here is ${found ? `Java ${found}` : 'none'}:` +
      ' install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME to its folder.'
  }
  if (existsSync(cached())) return undefined
  return run('mvn', ['-v']).then(() => undefined,
    () => 'Cassandra is fetched by Maven, and here is none: install it (Debian: maven).')
}

/**
 * The folder with the jars, which are fetched if they are missing. Several processes may call this
 * at once.
 */
export async function fetchLibrary(log: (line: string) => void): Promise<string> {
  const library = cached()
  if (existsSync(library)) return library
  log(`Fetching Apache Cassandra ${version} from Maven Central (67 MB, once) …`)
  await mkdir(join(library, '..'), { recursive: true })
  const fresh = await mkdtemp(`${library}.fetching-`)
  try {
    await fetchInto(fresh)
    await rename(join(fresh, 'lib'), library)
  } catch (error) {
    // Another process was quicker, and its folder is as good.
    if (!existsSync(library)) throw error
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return library
}

function cached(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'heddle',
    `cassandra-${version}`)
}

async function fetchInto(folder: string): Promise<void> {
  const pom = join(folder, 'pom.xml')
  await writeFile(pom, project)
  try {
    await run('mvn', ['-q', '-B', '-f', pom, 'dependency:copy-dependencies',
      `-DoutputDirectory=${join(folder, 'lib')}`, '-DincludeScope=runtime'])
  } catch (error) {
    const { stdout = '', message } = error as Error & { stdout?: string }
    const reason = stdout.split('\n').find((line) => line.startsWith('[ERROR]')) ?? message
    throw new Error(`Maven could not fetch Cassandra: ${reason.replace('[ERROR] ', '')}`, {
      cause: error,
    })
  }
}

const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>heddle</groupId>
  <artifactId>cassandra</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
</project>
`
