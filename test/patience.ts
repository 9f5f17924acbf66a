/** How long a test waits for a condition: far longer than needed, even on a slow, busy machine. */
export const PATIENCE = { timeout: 120_000, interval: 20 }
