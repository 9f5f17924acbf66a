/** How long a test waits for what it looks for: far longer than that takes, on a slow machine that is busy with others too. */
export const PATIENCE = { timeout: 120_000, interval: 20 }
