/** What drivers of clients share: a line of JSON for each check, with what went wrong. */

/** Does the work. Prints the name of the check, and the error if it failed. */
export async function check(what, work) {
  try {
    await work()
    console.log(JSON.stringify({ check: what }))
  } catch (error) {
    console.log(JSON.stringify({ check: what, error: error.stack ?? String(error) }))
  }
}

/** All that comes. */
export async function collect(iterable) {
  const all = []
  for await (const each of iterable) all.push(each)
  return all
}
