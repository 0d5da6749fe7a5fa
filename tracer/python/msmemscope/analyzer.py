"""The analyzers of msmemscope: leaktide in its place."""
from leaktide_msmemscope import (InefficientAnalyzer, InefficientConfig, LeaksAnalyzer,  # noqa: F401
                                 LeaksConfig, analyze, check_inefficient, check_leaks, get_analyzer_config,
                                 list_analyzers)
