/** From the options of a query to what a run needs: configuration, runners, journal, clock. */
